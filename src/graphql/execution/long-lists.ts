/**
 * Counts lists before graphql-js reads them. The coercion of a list of objects takes longer than anything else that is done
 * with it, so lists that will be refused must not be coerced.
 */
import {
  type GraphQLInputType,
  type GraphQLSchema,
  getNullableType,
  isInputObjectType,
  isInputType,
  isListType,
  typeFromAST,
  type VariableDefinitionNode,
} from 'graphql';
import { isObject } from '../../work/is-object.ts';

/**
 * Cuts each list that is longer than its zod schema permits to one item more, with which the schema refuses it. Changes the
 * lists themselves.
 */
export function cutLongLists(
  schema: GraphQLSchema,
  definitions: readonly VariableDefinitionNode[],
  values: Readonly<Record<string, unknown>>,
): void {
  for (const { type: typeNode, variable } of definitions) {
    const type = typeFromAST(schema, typeNode);
    if (isInputType(type)) cutInside(type, values[variable.name.value]);
  }
}

function cutInside(inputType: GraphQLInputType, value: unknown, itemsMax?: number): void {
  const type = getNullableType(inputType);
  if (isListType(type)) {
    const items = Array.isArray(value) ? value : [value];
    if (itemsMax !== undefined && items.length > itemsMax) items.length = itemsMax + 1;
    if (!isInputObjectType(getNullableType(type.ofType))) return;
    for (const item of items) cutInside(type.ofType, item);
  } else if (isInputObjectType(type) && isObject(value)) {
    const fields = type.getFields();
    for (const name in value) {
      const field = fields[name];
      const max = field?.extensions.itemsMax as number | undefined;
      if (field) cutInside(field.type, value[name], max);
    }
  }
}
