; What `parse/script/` reads of a file. TypeScript has these patterns too, and those of its own folder.

[(function_declaration) (generator_function_declaration) (method_definition)] @function
(variable_declarator
  name: (identifier)
  value: [(arrow_function) (function_expression) (generator_function)]) @function
(assignment_expression
  left: (member_expression)
  right: [(arrow_function) (function_expression) (generator_function)]) @function
(pair value: [(arrow_function) (function_expression) (generator_function)]) @function
(export_statement value: [(arrow_function) (function_expression) (generator_function)]) @function

(class_declaration) @class
(variable_declarator name: (identifier) value: (class)) @class
(assignment_expression left: (member_expression) right: (class)) @class
(export_statement value: (class)) @class

(program [
  (lexical_declaration (variable_declarator name: (identifier)) @variable)
  (variable_declaration (variable_declarator name: (identifier)) @variable)
  (export_statement [
    (lexical_declaration (variable_declarator name: (identifier)) @variable)
    (variable_declaration (variable_declarator name: (identifier)) @variable)])])
(program (expression_statement (assignment_expression
  left: (member_expression)
  right: [(object) (call_expression arguments: (arguments . (object)))]) @variable))
(export_statement value: [(object) (call_expression)]) @variable

(import_statement) @import
(export_statement) @export

(variable_declarator value: (_)) @given
(assignment_expression left: [(identifier) (member_expression)]) @given
(for_in_statement) @loop
(return_statement (_)) @return
(arrow_function body: [(identifier) (member_expression) (call_expression) (new_expression) (await_expression)] @result)

[(call_expression) (new_expression)] @call
(decorator [(identifier) (member_expression)] @decorator)
[(identifier) (shorthand_property_identifier)] @use
(comment) @comment
