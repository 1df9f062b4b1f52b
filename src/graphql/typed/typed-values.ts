import type { FieldContract } from '../../domain/contract/object-contract.ts';
import { toTypedValue } from '../../domain/contract/read-values.ts';
import { unprocessable } from '../../errors.ts';

/** Returns the value in the form of the field's type. Throws UNPROCESSABLE for a value that the type does not have. */
export function toOutputValue(
  field: Pick<FieldContract, 'name' | 'type' | 'isList'>,
  value: unknown,
  enumValues: ReadonlySet<string> | null,
): unknown {
  const typedValue = toTypedValue(field, value, enumValues);
  if (typedValue !== undefined) return typedValue;
  // The message omits the value, because it is record data.
  throw unprocessable(
    `The account has a value of ${field.name} that the type ${field.type} of the contract does not have. Select _raw to see it, and pin another valueType in the manifest.`,
  );
}
