/** The schemas that answers are made of. Those with a name are components of the document. */
import { z } from 'zod';
import { problem, problemIssue } from '../../problem-schema.ts';

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

namedSchemas.add(problemIssue, { id: 'Issue' });
namedSchemas.add(problem, { id: 'Problem' });
