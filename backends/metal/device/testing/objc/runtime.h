#pragma once
struct objc_object {};
struct objc_selector;
using SEL = objc_selector*;
extern "C" {
SEL sel_registerName(const char* name);
void* objc_lookUpClass(const char* name);
void* objc_getProtocol(const char* name);
}
