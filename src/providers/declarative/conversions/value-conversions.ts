/** Named steps of declarations: conversions between a vendor's own form of values and plain values. */
import { decodeAttribute } from './attio-values.ts';
import { decodeProperty, encodeProperty, findTitle } from './notion-properties.ts';

interface ValueConversion {
  /** Converts a vendor's value to a plain value. */
  decode(value: unknown): unknown;
  /** Returns more names for fields whose name differs between records. */
  addAliases?(fields: Record<string, unknown>): Record<string, unknown>;
  /** Converts a plain value to the vendor's value. Absent if the vendor accepts plain values. */
  encode?(value: unknown, name: string): unknown;
}

/**
 * - attioValues: lists of values with an `attribute_type`, as Attio returns them.
 *
 * - notionProperties: properties whose `type` names the member with the value, as Notion returns them.
 */
export const VALUE_CONVERSIONS = ['attioValues', 'notionProperties'] as const;

export const CONVERSIONS: Record<(typeof VALUE_CONVERSIONS)[number], ValueConversion> = {
  attioValues: { decode: decodeAttribute },
  notionProperties: {
    decode: decodeProperty,
    addAliases: findTitle,
    encode: encodeProperty,
  },
};
