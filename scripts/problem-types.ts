/** The types of errors for clients: docs/problem-extensions.ts. */
import { join } from 'node:path';
import { compile } from 'json-schema-to-typescript';
import { z } from 'zod';
import { problem, problemExtensions, problemIssue } from '../src/problem-schema.ts';

export const TYPES_PATH = join(import.meta.dirname, '..', 'docs', 'problem-extensions.ts');

const BANNER = `/**
 * Types of the errors of the API, made by \`npm run problem-types\`. Copy the file into a client.
 * A GraphQL error has \`ProblemExtensions\` as its \`extensions\`. REST responds with a \`Problem\`.
 */`;

/** Returns the text of the file. */
export async function problemTypes(): Promise<string> {
  const named = z.registry<{ id?: string; title?: string }>();
  named.add(problemIssue, { id: 'ProblemIssue', title: 'ProblemIssue' });
  named.add(problem, { id: 'Problem', title: 'Problem' });
  const schema = z.toJSONSchema(problemExtensions, {
    metadata: named,
    // Descriptions are in zod's own registry.
    override({ zodSchema, jsonSchema }) {
      const { description } = zodSchema as unknown as z.ZodType;
      if (description !== undefined) jsonSchema.description ??= description;
    },
  });
  return compile(schema as Parameters<typeof compile>[0], 'ProblemExtensions', {
    bannerComment: BANNER,
    additionalProperties: false,
    style: { singleQuote: true, printWidth: 100 },
  });
}
