#include "backends/cuda/recording.h"

namespace mt::cuda {
namespace {

class Graph final : public Recording {
 public:
  Graph(std::shared_ptr<Context> context, Handle graph) : context_(std::move(context)) {
    const Driver& d = context_->use();
    const Status made = d.graph_instantiate(&graph_, graph, 0);
    d.graph_destroy(graph);
    context_->check(made, "making a graph of the recorded launches");
    for (Handle& event : events_) context_->check(d.event_create(&event, 0), "making an event");
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() override {
    if (context_->ended()) return;
    const Driver& d = context_->use();
    for (const Handle event : events_)
      if (event) d.event_destroy(event);
    if (graph_) d.graph_exec_destroy(graph_);
  }
  double run() override {
    const Driver& d = context_->use();
    const Handle stream = context_->stream();
    context_->check(d.event_record(events_[0], stream), "timing recorded launches");
    context_->check(d.graph_launch(graph_, stream), "running recorded launches");
    context_->check(d.event_record(events_[1], stream), "timing recorded launches");
    context_->wait("running recorded launches");
    float milliseconds = 0;
    context_->check(d.event_elapsed(&milliseconds, events_[0], events_[1]), "timing recorded launches");
    return static_cast<double>(milliseconds) * 1e-3;
  }

 private:
  std::shared_ptr<Context> context_;
  Handle graph_ = nullptr;
  Handle events_[2] = {nullptr, nullptr};
};

}  // namespace

std::unique_ptr<Recording> record(const std::shared_ptr<Context>& context, const std::function<void()>& enqueue) {
  const Driver& d = context->use();
  context->wait();
  context->check(d.capture_begin(context->stream(), kCaptureThreadLocal), "recording launches");
  Handle graph = nullptr;
  try {
    enqueue();
  } catch (...) {
    d.capture_end(context->stream(), &graph);
    if (graph) d.graph_destroy(graph);
    throw;
  }
  context->check(d.capture_end(context->stream(), &graph), "recording launches");
  return std::make_unique<Graph>(context, graph);
}

}  // namespace mt::cuda
