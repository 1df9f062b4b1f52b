/** Converts Attio's values of attributes to plain values. */
import { isObject } from '../../../work/is-object.ts';

/** The member that holds the plain value of an attribute, by attribute type. Default: `value`. */
const VALUE_MEMBERS = new Map(
  Object.entries({
    'personal-name': 'full_name',
    'email-address': 'email_address',
    'phone-number': 'phone_number',
    domain: 'domain',
    currency: 'currency_value',
    'record-reference': 'target_record_id',
    'actor-reference': 'referenced_actor_id',
    select: 'option',
    status: 'status',
    interaction: 'interacted_at',
  }),
);

/** Converts an attribute's list of values to the form that a write accepts: null, a plain value, or a list of them. */
export function decodeAttribute(values: unknown): unknown {
  if (!Array.isArray(values)) return values;
  const plainValues = values.map(decodeValue);
  return plainValues.length > 1 ? plainValues : (plainValues[0] ?? null);
}

function decodeValue(value: unknown): unknown {
  if (!isObject(value)) return value;
  const member = value[VALUE_MEMBERS.get(String(value.attribute_type)) ?? 'value'];
  // A location has several members, so it stays unchanged. An option and a status are objects with a title.
  if (member === undefined) return value;
  return isObject(member) && 'title' in member ? member.title : member;
}
