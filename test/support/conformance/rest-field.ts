/** Checks one field over REST: its declaration in the OpenAPI document, and its value in a response. */
import { expect } from 'vitest';
import { type DocumentSchema, resolveReference } from '../rest/samples.ts';
import type { Fixture } from './fixture.ts';
import { getValueAt } from './json-paths.ts';
import type { FieldRule, Resource } from './resource.ts';
import { TYPES } from './value-types.ts';

export async function checkRestField(
  fixture: Fixture,
  { schema: name, load, fields }: Resource,
  field: string,
) {
  const rule = fields[field] as FieldRule;
  const { isRequired, declared } = findDeclaration(fixture, name, field);
  if (rule.isRequired) expect(isRequired, 'the document declares the field as required').toBe(true);
  expect(TYPES[rule.type].matchesDocument(declared), 'the document has the type').toBe(true);
  if (rule.values) expect([...(declared.enum ?? [])].sort()).toEqual([...rule.values].sort());
  const value = getValueAt(await load(fixture), field);
  if (rule.isUnset) return expect(value).toBeUndefined();
  expect(TYPES[rule.type].isValid(value), `${field} is ${JSON.stringify(value)}`).toBe(true);
}

interface Document {
  components: { schemas: Record<string, DocumentSchema> };
}

/** Returns the declaration of a member of a component in the OpenAPI document. */
function findDeclaration({ app }: Fixture, component: string, path: string) {
  const { components } = app.app.rest.swagger() as unknown as Document;
  const sampling = { components: components.schemas, isWhole: true };
  const steps = path.split('.');
  let schema = resolveReference({ $ref: component }, sampling);
  let isRequired = true;
  for (const step of steps) {
    isRequired = schema.required?.includes(step) ?? false;
    const inner = schema.properties?.[step];
    expect(inner, `${component} has ${path}`).toBeDefined();
    schema = resolveReference(inner as DocumentSchema, sampling);
  }
  const { items } = schema;
  if (items) schema = { ...schema, items: resolveReference(items, sampling) };
  return { isRequired, declared: schema };
}
