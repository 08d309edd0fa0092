(document (object (pair key: (_) @name) @key))
(document (object (pair value: (object (pair key: (_) @name) @key))))
