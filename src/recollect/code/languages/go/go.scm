(function_declaration name: (_) @name parameters: (_) @parameters result: (_)? @returns) @function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: (_) @within))
  name: (_) @name parameters: (_) @parameters result: (_)? @returns) @function
(method_elem name: (_) @name parameters: (_) @parameters result: (_)? @returns) @function
(source_file (type_declaration [(type_spec name: (_) @name) (type_alias name: (_) @name)] @class))
(source_file (const_declaration (const_spec name: (_) @name) @variable))
(source_file (var_declaration [(var_spec name: (_) @name) (var_spec_list (var_spec name: (_) @name))] @variable))

(field_declaration !name type: (_) @base)
(interface_type (type_elem . (_) @base .))

(field_declaration name: (_) @given type: (_) @type)
(parameter_declaration name: (_) @given type: (_) @type)
(var_spec name: (_) @given type: (_) @type)
(short_var_declaration left: (expression_list . (identifier) @given) right: (expression_list . (_) @value))

(import_spec) @import
(short_var_declaration left: (expression_list . (identifier) @given)
  right: (expression_list . (type_assertion_expression type: (_) @type)))

(call_expression function: (_) @call)
(composite_literal type: [(type_identifier) (qualified_type)] @call)
(comment) @comment
