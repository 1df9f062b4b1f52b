/** Values of fields between records and GraphQL. */
import type { FieldContract } from '../../domain/contract/object-contract.ts';
import { toTypedValue } from '../../domain/contract/read-values.ts';
import { unprocessable } from '../../errors.ts';

/** Returns the value as `toTypedValue`. Throws UNPROCESSABLE for a value that the type does not have. */
export function toOutputValue(
  field: Pick<FieldContract, 'name' | 'type' | 'isList'>,
  value: unknown,
  enumValues: ReadonlySet<string> | null,
): unknown {
  const typed = toTypedValue(field, value, enumValues);
  if (typed === undefined) throw createUnexpectedValueError(field);
  return typed;
}

/** The message omits the value, because it is record data. */
function createUnexpectedValueError({ name, type }: Pick<FieldContract, 'name' | 'type'>) {
  return unprocessable(
    `The account has a value of ${name} that the type ${type} of the contract does not have. Select _raw to see it, and pin another valueType in the manifest.`,
  );
}
