/** The schemas that answers are made of. Those with a name are components of the document. */
import { z } from 'zod';

/** The named ones. Inputs are not among them: they are described where they are used. */
export const namedSchemas = z.registry<{ id?: string }>();

/** A resource as answers show it; what its `show` function adds beyond these members is left out. */
export function resource<S extends z.core.$ZodLooseShape>(
  id: string,
  description: string,
  shape: S,
) {
  const schema = z.object(shape).describe(description);
  namedSchemas.add(schema, { id });
  return schema;
}

/** `id`, `projectId` and `createTime`. */
export const createdShape = {
  id: z.string().describe('The id.'),
  projectId: z.string().describe('The project that it belongs to.'),
  createTime: z.date().describe('When it was made.'),
};

export const updateTimeShape = {
  updateTime: z
    .date()
    .optional()
    .describe('When it was last changed; left out where it never was.'),
};

const issue = z
  .looseObject({
    in: z.enum(['path', 'query', 'header', 'body']).describe('Where the problem lies.'),
    name: z.string().describe('The offending parameter or property: a name or a path.'),
    detail: z.string().describe('What is wrong with it.'),
    value: z.unknown().optional().describe('What was given, unless it is a secret.'),
  })
  .describe('One offending input.');

export const problem = z
  .looseObject({
    type: z.string().describe('A URN that names the kind of problem.'),
    title: z.string().describe('The kind of problem in words.'),
    status: z.int().min(400).max(599).describe('The HTTP status.'),
    detail: z.string().describe('What is wrong this time.'),
    instance: z.string().optional().describe('Names this occurrence in the log.'),
    issues: z.array(issue).optional().describe('Every offending input.'),
  })
  .describe('A problem document (RFC 9457).');
namedSchemas.add(issue, { id: 'Issue' });
namedSchemas.add(problem, { id: 'Problem' });
