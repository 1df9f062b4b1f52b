/** The schemas of responses. Named schemas are components of the document. */
import { z } from 'zod';
import { problem, problemIssue } from '../../problem-schema.ts';

/** The named schemas. Inputs are not among them, because the document describes them inline. */
export const namedSchemas = z.registry<{ id?: string }>();

/**
 * Declares a resource of responses. Members that its `show` function adds beyond these are omitted from the response.
 */
export function resource<S extends z.core.$ZodLooseShape>(
  id: string,
  description: string,
  shape: S,
) {
  const schema = z.object(shape).describe(description);
  namedSchemas.add(schema, { id });
  return schema;
}

/** The members `id`, `projectId` and `createTime`. */
export const createdShape = {
  id: z.string().describe('Unique in the whole service.'),
  projectId: z.string().describe('The project that it belongs to.'),
  createTime: z.date().describe('When it was created.'),
};

export const updateTimeShape = {
  updateTime: z.date().optional().describe('When it was last changed. Absent if never.'),
};

namedSchemas.add(problemIssue, { id: 'Issue' });
namedSchemas.add(problem, { id: 'Problem' });
