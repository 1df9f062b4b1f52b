/**
 * Converts contents between the form of the API and the form of manifests. In manifests, enum values are in camel case:
 * `all` for `ALL`, and `singleSelect` for `SINGLE_SELECT`.
 */
import { findMember, type Step } from './editor/members.ts';

export function toManifestForm(content: unknown): unknown {
  return convertEnums(content, [], (value, manifestValues) =>
    manifestValues.find((manifestValue) => toApiValue(manifestValue) === value),
  );
}

/** An unknown enum value remains unchanged, and the gateway refuses it. */
export function toApiForm(manifest: unknown): unknown {
  return convertEnums(manifest, [], (value, manifestValues) =>
    manifestValues.includes(value) ? toApiValue(value) : undefined,
  );
}

/** Returns undefined for an unknown value. */
type EnumConversion = (value: string, manifestValues: readonly string[]) => string | undefined;

function convertEnums(value: unknown, path: readonly Step[], convert: EnumConversion): unknown {
  if (Array.isArray(value))
    return value.map((item, index) => convertEnums(item, [...path, index], convert));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        name,
        convertEnums(member, [...path, name], convert),
      ]),
    );
  }
  const values = findMember(path)?.values;
  return values && typeof value === 'string' ? (convert(value, values) ?? value) : value;
}

function toApiValue(manifestValue: string): string {
  return manifestValue.replace(/[A-Z]/g, '_$&').toUpperCase();
}
