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
  id: z.string().describe('Unique in the whole service.'),
  projectId: z.string().describe('The project that it belongs to.'),
  createTime: z.date().describe('When it was created.'),
};

export const updateTimeShape = {
  updateTime: z.date().optional().describe('When it was last changed; left out if it never was.'),
};

const issue = z
  .looseObject({
    type: z
      .string()
      .describe('A URN that names what is wrong with it, like `urn:problem:missing-value`.'),
    title: z.string().describe('What is wrong, in a few words for people.'),
    in: z
      .enum(['path', 'query', 'header', 'body'])
      .describe('The part of the request that holds the offending input.'),
    name: z.string().describe('The parameter, or the path of the property in the body.'),
    detail: z.string().describe('What is wrong with it, and what is allowed.'),
    value: z
      .unknown()
      .optional()
      .describe('The value that was given; left out if it may be a secret.'),
  })
  .describe('One offending input.');

export const problem = z
  .looseObject({
    type: z
      .string()
      .describe('A URN that names the kind of problem, like `urn:problem:not-found`.'),
    href: z.url().describe('The page about this kind of problem.'),
    title: z.string().describe('The kind of problem, for people.'),
    status: z.int().min(400).max(599).describe('The HTTP status.'),
    detail: z.string().describe('What is wrong with this request, for people.'),
    instance: z
      .string()
      .optional()
      .describe('A URN that finds an internal error in the log of the gateway.'),
    remedy: z
      .string()
      .optional()
      .describe('What to do about it; of a name in updateMask that is not known, those that are.'),
    issues: z.array(issue).optional().describe('Every offending input, at most 1000.'),
  })
  .describe('A problem document (RFC 9457).');
namedSchemas.add(issue, { id: 'Issue' });
namedSchemas.add(problem, { id: 'Problem' });
