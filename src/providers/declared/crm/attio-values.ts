/**
 * Attio gives each attribute as a list of values with their history and type. What is written is a plain
 * value: the same comes out here.
 */

/** The member that holds the value, by the type of the attribute. Others hold it in `value`. */
const MEMBER: Record<string, string> = {
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
};

/** One value alone, or a list of several. Null for none. */
export function attioValue(values: unknown): unknown {
  if (!Array.isArray(values)) return values;
  const plain = values.map(plainValue);
  return plain.length > 1 ? plain : (plain[0] ?? null);
}

function plainValue(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const parts = value as Record<string, unknown>;
  const found = parts[MEMBER[String(parts.attribute_type)] ?? 'value'];
  // A location has no member of its own; an option and a status are objects with a title.
  if (found === undefined) return value;
  const isTitled = typeof found === 'object' && found !== null && 'title' in found;
  return isTitled ? found.title : found;
}
