(function_declaration name: (_) @name (function_value_parameters) @parameters) @function
(function_declaration
  name: (_) @name (function_value_parameters) . [(user_type) (nullable_type)] @returns) @function
(function_declaration (user_type) @within . name: (_) @name) @function
(secondary_constructor "constructor" @name (function_value_parameters) @parameters) @function
[(class_declaration name: (_) @name) (object_declaration name: (_) @name)] @class
(type_alias type: (_) @name) @class
(source_file (property_declaration (variable_declaration . (_) @name)) @variable)
(class_body (property_declaration (variable_declaration . (_) @name)) @variable)

(delegation_specifier [(user_type) @base (constructor_invocation (user_type) @base)])

(class_parameter (identifier) @given . (_) @type)
(parameter (identifier) @given . (_) @type)
(variable_declaration (identifier) @given . (_) @type)
(property_declaration (variable_declaration (identifier) @given .) (call_expression) @value)

(package_header (_) @package)
(import) @import
(call_expression . (_) @call)
[(line_comment) (block_comment)] @comment
