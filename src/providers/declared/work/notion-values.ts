/**
 * Notion gives each property with its type, and takes it so. Here it is the plain value: what comes out can be
 * written, if Notion takes it. `title` is the property of that type, whatever it is called.
 */
import { isObject } from '../../declarative/json.ts';

/** The plain value of a property; one of a type that has none stays as it is. */
export function notionValue(property: unknown): unknown {
  if (!isObject(property) || typeof property.type !== 'string') return property;
  const value = property[property.type];
  if (Array.isArray(value)) return plainList(value);
  if (!isObject(value)) return value ?? null;
  if (property.type === 'formula' || property.type === 'rollup') return notionValue(value);
  if (property.type === 'unique_id') return [value.prefix, value.number].filter(Boolean).join('-');
  if (property.type === 'date') return value.end == null ? value.start : value;
  return value.name ?? value.email ?? value.id ?? value;
}

/** The parts of a text are one; options, people and pages are named. */
function plainList(parts: unknown[]): unknown {
  const all = parts.filter(isObject);
  if (all.every(({ plain_text }) => typeof plain_text === 'string')) {
    return all.map(({ plain_text }) => plain_text).join('');
  }
  return all.map((part) => part.name ?? part.id ?? notionValue(part));
}

/** The title under the name `title`. */
export function notionTitle(properties: Record<string, unknown>): Record<string, unknown> {
  const title = Object.values(properties).find((one) => isObject(one) && one.type === 'title');
  return title === undefined ? {} : { title };
}

/** A text is written as one, `title` as the title; numbers and flags as such. Others are in Notion's own form. */
export function notionProperty(value: unknown, name: string): unknown {
  if (typeof value === 'number') return { number: value };
  if (typeof value === 'boolean') return { checkbox: value };
  if (typeof value !== 'string') return value;
  const text = [{ type: 'text', text: { content: value } }];
  return name === 'title' ? { title: text } : { rich_text: text };
}
