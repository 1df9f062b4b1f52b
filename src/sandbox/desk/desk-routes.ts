/**
 * Routes of the help desk, a second service with people. Unlike the CRM, it nests values, sends times as numbers, and
 * links to the next page by URL.
 */
import { z } from 'zod';
import type { StoredRecord } from '../records/table.ts';
import type { Workspace } from '../records/workspace.ts';
import {
  parseInput,
  parseJsonBody,
  type SandboxRequest,
  type SandboxResponse,
} from '../request.ts';
import type { SandboxRoute } from '../router.ts';

const PAGE_SIZE_MAX = 100;
const milliseconds = z.coerce.number().int().nonnegative().optional();

const pageQuery = z.object({
  per_page: z.coerce.number().int().min(1).max(PAGE_SIZE_MAX).default(PAGE_SIZE_MAX),
  after: z.coerce.number().int().nonnegative().default(0),
  changed_since: milliseconds,
  changed_until: milliseconds,
  mail: z.string().optional(),
});

const person = z.strictObject({
  person: z.strictObject({
    name: z.strictObject({ given: z.unknown(), family: z.unknown() }).partial().default({}),
    contact: z.strictObject({ mail: z.unknown(), mobile: z.unknown() }).partial().default({}),
    newsletter: z.unknown().optional(),
  }),
});

export function createDeskRoutes(desk: Workspace): SandboxRoute[] {
  const route = (
    method: string,
    path: string,
    handle: (request: SandboxRequest) => SandboxResponse,
  ): SandboxRoute => ({ method, pattern: `/desk/people${path}`, handle });
  return [
    route('GET', '', (request) => listPeople(desk, request)),
    route('POST', '', (request) => ({ status: 201, json: writePerson(desk, request) })),
    route('GET', '/:id', ({ params }) => ({
      status: 200,
      json: { person: formatPerson(desk.getRecord('people', params.id!)) },
    })),
    route('PATCH', '/:id', (request) => ({ status: 200, json: writePerson(desk, request) })),
    route('DELETE', '/:id', ({ params }) => {
      desk.delete('people', params.id!);
      return { status: 204 };
    }),
  ];
}

function listPeople(desk: Workspace, { path, query, headers }: SandboxRequest): SandboxResponse {
  const input = parseInput(pageQuery, Object.fromEntries(query));
  const { mail } = input;
  const { records, hasMore } = desk.getTable('people').readPage({
    after: input.after,
    sinceMs: input.changed_since,
    untilMs: input.changed_until,
    ...(mail !== undefined && { isMatch: ({ values }) => values.mail === mail }),
    limit: input.per_page,
  });
  const next = new URLSearchParams(query);
  next.set('after', String(records.at(-1)?.position));
  const links = { next: hasMore ? `http://${headers.host}${path}?${next}` : null };
  return { status: 200, json: { people: records.map(formatPerson), links } };
}

function writePerson(desk: Workspace, request: SandboxRequest) {
  const { name, contact, newsletter } = parseInput(person, parseJsonBody(request)).person;
  const values = { ...name, ...contact, ...(newsletter !== undefined && { newsletter }) };
  const { id } = request.params;
  return {
    person: formatPerson(desk.write('people', { ...(id !== undefined && { id }), values })),
  };
}

function formatPerson({ id, values, updatedAtMs }: StoredRecord) {
  const { given = null, family = null, mail, mobile = null, newsletter = null } = values;
  return {
    key: id,
    name: { given, family },
    contact: { mail, mobile },
    newsletter,
    changed: updatedAtMs,
  };
}
