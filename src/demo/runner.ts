/** Runs GraphQL operations for the demo as its builder. */
import { graphql } from 'graphql';
import type { Services } from '../domain/access/call.ts';
import { createOrgRoles } from '../domain/access/viewer/org-role.ts';
import { ALL_SCOPES } from '../domain/access/viewer/scopes.ts';
import type { BuilderViewer } from '../domain/access/viewer/viewer.ts';
import { createContext } from '../graphql/execution/context.ts';
import { schema } from '../graphql/schema/schema.ts';
import { PRESENT_CLOCK, type RunAtTime } from './history.ts';

export const DEMO_PROJECT = 'demo';
/** The subject of the demo's builder at the issuer. */
export const DEMO_SUBJECT = 'demo';

// biome-ignore lint/suspicious/noExplicitAny: callers read only the fields that they select
export type Data = any;

export interface Runner {
  /** Returns the selected fields of the demo's project. */
  getProject(selection: string): Promise<Data>;
  query(source: string): Promise<Data>;
  /** Runs a mutation and returns its payload. */
  change(field: string, input: Record<string, unknown>, selection: string): Promise<Data>;
}

export function createRunner(
  services: Services,
  issuer: string,
  runAtTime: RunAtTime = PRESENT_CLOCK,
): Runner {
  const run = async (source: string, variableValues?: Record<string, unknown>): Promise<Data> => {
    const viewer = await getDemoBuilder(services, issuer);
    const contextValue = createContext(services, { viewer });
    const { data, errors } = await graphql({ schema, source, variableValues, contextValue });
    const error = errors?.[0];
    if (error)
      throw new Error(`The demo could not be filled in: ${error.message}`, { cause: error });
    return data;
  };
  return {
    query: run,
    async getProject(selection) {
      return (await run(`{ project(idOrName: "${DEMO_PROJECT}") { ${selection} } }`)).project;
    },
    async change(field, input, selection) {
      const type = `${field.charAt(0).toUpperCase()}${field.slice(1)}Input`;
      const source = `mutation ($input: ${type}!) { ${field}(input: $input) { ${selection} } }`;
      return (await runAtTime(() => run(source, { input })))[field];
    },
  };
}

/** Returns the builder with its current memberships, because the first call creates the org. */
async function getDemoBuilder({ database }: Services, issuer: string): Promise<BuilderViewer> {
  const { memberships, id, primaryEmail } = await database.prisma.builder.findUniqueOrThrow({
    where: { idpProvider_idpRef: { idpProvider: issuer, idpRef: DEMO_SUBJECT } },
    include: { memberships: true },
  });
  const roles = createOrgRoles(memberships);
  return { kind: 'BUILDER', id, roles, email: primaryEmail, scopes: ALL_SCOPES, expireTime: null };
}
