/** Converts Notion's typed properties to plain values and back. */
import { isObject } from '../../../work/is-object.ts';

/**
 * Converts a typed property to a plain value, which can be written back if Notion permits it. Types without a plain
 * value stay unchanged.
 */
export function decodeProperty(property: unknown): unknown {
  if (!isObject(property) || typeof property.type !== 'string') return property;
  const value = property[property.type];
  if (Array.isArray(value)) return decodeList(value, property.type);
  if (!isObject(value)) return value ?? null;
  if (property.type === 'formula' || property.type === 'rollup') return decodeProperty(value);
  if (property.type === 'unique_id') return [value.prefix, value.number].filter(Boolean).join('-');
  if (property.type === 'date') return value.end == null ? value.start : value;
  return value.name ?? value.email ?? value.id ?? value;
}

/** Joins the parts of rich text. Lists of options, people and pages become lists of names or ids. */
function decodeList(parts: unknown[], type: string): unknown {
  const items = parts.filter(isObject);
  if (type === 'title' || type === 'rich_text') {
    return items.map(({ plain_text }) => plain_text ?? '').join('');
  }
  return items.map((item) => item.name ?? item.id ?? decodeProperty(item));
}

/** Returns the title property under the name `title`, because its name differs between data sources. */
export function findTitle(properties: Record<string, unknown>): Record<string, unknown> {
  const title = Object.values(properties).find(
    (property) => isObject(property) && property.type === 'title',
  );
  return title === undefined ? {} : { title };
}

/**
 * Converts a plain value for a write: a string to rich text or the title, a number or boolean to a property of its type.
 * Other values must have Notion's own form.
 */
export function encodeProperty(value: unknown, name: string): unknown {
  if (typeof value === 'number') return { number: value };
  if (typeof value === 'boolean') return { checkbox: value };
  if (typeof value !== 'string') return value;
  const text = [{ type: 'text', text: { content: value } }];
  return name === 'title' ? { title: text } : { rich_text: text };
}
