# cmake -DOUT=file.cpp -DFILES=a;b -P embed.cmake: writes a table of the files' names and bytes.
set(text "#include \"backends/metal_host/compile/shim_store.h\"\nnamespace mt::metal_host {\nconst ShimFile kShimFiles[] = {\n")
foreach(file ${FILES})
  get_filename_component(name ${file} NAME)
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" bytes "${bytes}")
  # Pieces of 16 bytes keep lines short; neighbouring literals are one.
  string(REGEX REPLACE "((\\\\x[0-9a-f][0-9a-f])(\\\\x[0-9a-f][0-9a-f])?(\\\\x[0-9a-f][0-9a-f])?(\\\\x[0-9a-f][0-9a-f])?(\\\\x[0-9a-f][0-9a-f])?(\\\\x[0-9a-f][0-9a-f])?(\\\\x[0-9a-f][0-9a-f])?(\\\\x[0-9a-f][0-9a-f])?)"
                       "\"\\1\"\n" bytes "${bytes}")
  file(SIZE ${file} size)
  string(APPEND text "{\"${name}\", {${bytes}, ${size}}},\n")
endforeach()
string(APPEND text "};\nconst std::size_t kShimFileCount = sizeof kShimFiles / sizeof *kShimFiles;\n}\n")
file(WRITE ${OUT}.new "${text}")
file(RENAME ${OUT}.new ${OUT})
