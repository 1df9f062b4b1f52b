/** One field over REST: what the document declares, and what an answer shows. */
import { expect } from 'vitest';
import { type DocumentSchema, resolved } from '../rest/samples.ts';
import { valueAt } from './places.ts';
import type { FieldRule, Resource } from './resource.ts';
import type { Scene } from './scene.ts';
import { TYPES } from './value-types.ts';

export async function checkRest(
  scene: Scene,
  { schema: name, shown, fields }: Resource,
  field: string,
) {
  const rule = fields[field] as FieldRule;
  const { isRequired, declared } = declaredAt(scene, name, field);
  if (rule.isRequired) expect(isRequired, 'the document says that it is always there').toBe(true);
  expect(TYPES[rule.is].inDocument(declared), 'the document has the type').toBe(true);
  if (rule.oneOf) expect([...(declared.enum ?? [])].sort()).toEqual([...rule.oneOf].sort());
  const value = valueAt(await shown(scene), field);
  if (rule.isUnset) return expect(value).toBeUndefined();
  expect(TYPES[rule.is].fits(value), `${field} is ${JSON.stringify(value)}`).toBe(true);
}

interface Document {
  components: { schemas: Record<string, DocumentSchema> };
}

/** What the document says of a member of a component. */
export function declaredAt({ app }: Scene, component: string, place: string) {
  const { components } = app.app.rest.swagger() as unknown as Document;
  const sampling = { components: components.schemas, isWhole: true };
  const steps = place.split('.');
  let declared = resolved({ $ref: component }, sampling);
  let isRequired = true;
  for (const step of steps) {
    isRequired = declared.required?.includes(step) ?? false;
    const inner = declared.properties?.[step];
    expect(inner, `${component} has ${place}`).toBeDefined();
    declared = resolved(inner as DocumentSchema, sampling);
  }
  return { isRequired, declared };
}
