/** A rule of validation: a document never gives a list filters that no index serves together, whatever their values. */
import { GraphQLError, type ValidationContext, type ValidationRule } from 'graphql';
import type { Exclusive } from '../../domain/paging/exclusive-filters.ts';

export const exclusiveArguments: ValidationRule = (context: ValidationContext) => ({
  Field(node) {
    const exclusive = context.getFieldDef()?.extensions.exclusive as Exclusive | undefined;
    for (const names of exclusive ?? []) {
      const given = (node.arguments ?? []).filter(({ name }) => names.includes(name.value));
      if (given.length < 2) continue;
      const [first, ...others] = given.map(({ name }) => name.value);
      const detail = `The arguments ${first} and ${others.join(', ')} of ${node.name.value} must not be given together.`;
      context.reportError(new GraphQLError(detail, { nodes: given }));
    }
  },
});
