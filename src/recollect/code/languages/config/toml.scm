(document (pair . (_) @name) @key)
[(table . (_) @name) (table_array_element . (_) @name)] @key
(table (pair . (_) @name) @key)
