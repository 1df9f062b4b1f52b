/** Rules about the fields of a resource: both surfaces declare and return each of them. */
import { checkGraphql } from './graphql-field.ts';
import type { Resource } from './resource.ts';
import { checkRest } from './rest-field.ts';
import type { Rule } from './rule.ts';
import type { Scene } from './scene.ts';
import { TYPES } from './value-types.ts';

export function fieldRules(resource: Resource): Rule[] {
  const { name, fields } = resource;
  return Object.entries(fields).map(([field, rule]): Rule => {
    const typeText = rule.values
      ? `one of ${rule.values.join(', ')}`
      : TYPES[rule.type].description;
    const inGraphql = rule.graphql !== null;
    return {
      title: `${name} ${rule.isRequired ? 'always has' : 'may have'} \`${field}\`, ${typeText}.`,
      rest: (scene) => checkRest(scene, resource, field),
      ...(inGraphql && { graphql: (scene: Scene) => checkGraphql(scene, resource, field) }),
    };
  });
}
