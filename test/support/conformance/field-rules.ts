/** Rules about the fields of a resource: both surfaces declare and return each of them. */

import type { Fixture } from './fixture.ts';
import { checkGraphqlField } from './graphql-field.ts';
import type { Resource } from './resource.ts';
import { checkRestField } from './rest-field.ts';
import type { Rule } from './rule.ts';
import { TYPES } from './value-types.ts';

export function createFieldRules(resource: Resource): Rule[] {
  const { name, fields } = resource;
  return Object.entries(fields).map(([field, rule]): Rule => {
    const typeText = rule.values
      ? `one of ${rule.values.join(', ')}`
      : TYPES[rule.type].description;
    const inGraphql = rule.graphql !== null;
    return {
      title: `${name} ${rule.isRequired ? 'always has' : 'may have'} \`${field}\`, ${typeText}.`,
      rest: (fixture) => checkRestField(fixture, resource, field),
      ...(inGraphql && {
        graphql: (fixture: Fixture) => checkGraphqlField(fixture, resource, field),
      }),
    };
  });
}
