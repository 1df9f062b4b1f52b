import type { FieldContract } from '../../domain/contract/field-contract.ts';
import { toTypedValue } from '../../domain/contract/read-values.ts';
import { unprocessable } from '../../errors.ts';

/** Returns the value in the form of the field's type. Throws UNPROCESSABLE if the value does not fit the type. */
export function toOutputValue(
  field: Pick<FieldContract, 'name' | 'type' | 'isList'>,
  value: unknown,
  enumValues: ReadonlySet<string> | null,
): unknown {
  const typedValue = toTypedValue(field, value, enumValues);
  if (typedValue !== undefined) return typedValue;
  // The message omits the value, because it is record data.
  throw unprocessable(
    `The value of ${field.name} in the account does not match the contract type ${field.type}. Select _raw to see the value, and set a matching valueType in the manifest.`,
  );
}
