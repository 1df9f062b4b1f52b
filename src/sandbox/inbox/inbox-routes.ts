import { z } from 'zod';
import { parseInput, parseJsonBody } from '../request.ts';
import type { SandboxRoute } from '../router.ts';
import type { Inbox } from './inbox.ts';

const boxSchema = z.object({
  name: z.string().regex(/^[A-Za-z0-9-]{1,64}$/, 'has 1 to 64 letters, digits and dashes'),
});
const listSchema = z.object({ limit: z.coerce.number().int().min(1).max(1_000).default(100) });

/** Creates the routes of the inbox. Like a webhook receiver, they require no credentials. Readers verify signatures. */
export function createInboxRoutes(inbox: Inbox): SandboxRoute[] {
  const pattern = '/inbox/:name';
  return [
    {
      method: 'POST',
      pattern,
      handle(request) {
        parseJsonBody(request);
        inbox.receive(parseInput(boxSchema, request.params).name, request.headers, request.body);
        return { status: 204 };
      },
    },
    {
      method: 'GET',
      pattern,
      handle({ params, query }) {
        const { name } = parseInput(boxSchema, params);
        const { limit } = parseInput(listSchema, Object.fromEntries(query));
        return {
          status: 200,
          json: { total: inbox.count(name), messages: inbox.list(name, limit) },
        };
      },
    },
    {
      method: 'DELETE',
      pattern,
      handle({ params }) {
        inbox.clear(parseInput(boxSchema, params).name);
        return { status: 204 };
      },
    },
  ];
}
