import { z } from 'zod';
import { within } from '../../domain/declared-read.ts';
import { getOwnBuilder, listBuilders } from '../../domain/org/builder.ts';
import { getOwnOrg } from '../../domain/org/org.ts';
import { orgIdsOf, type Row } from '../../domain/scope.ts';
import type { Viewer } from '../../domain/viewer/viewer.ts';
import { listEndpoint } from '../endpoint/list.ts';
import { readEndpoint } from '../endpoint/read-endpoint.ts';
import { createdShape, resource } from '../openapi/schemas.ts';
import { orgId } from './org.ts';

const tag = 'Organizations';

const builder = resource('Builder', 'A person who makes software, known by their tokens.', {
  id: createdShape.id,
  idpProvider: z.string().describe('The issuer of their tokens.'),
  idpRef: z.string().describe('The subject of their tokens.'),
  firstName: z.string().optional().describe('Their given name, where tokens say it.'),
  lastName: z.string().optional().describe('Their family name, where tokens say it.'),
  fullName: z.string().optional().describe('Their whole name, where tokens say it.'),
  primaryEmail: z
    .string()
    .optional()
    .describe('Their e-mail address, where tokens say it and not as unverified.'),
  createTime: createdShape.createTime,
});

function showBuilder(row: Row<'Builder'>) {
  return {
    ...row,
    firstName: row.firstName ?? undefined,
    lastName: row.lastName ?? undefined,
    fullName: row.fullName ?? undefined,
    primaryEmail: row.primaryEmail ?? undefined,
  };
}

/** The caller, as a builder. */
export const builderInfo = resource('BuilderInfo', 'A builder, and where they belong.', {
  builder,
  orgIds: z.array(z.string()).describe('Their orgs: all projects of these are theirs.'),
});

export function showBuilderInfo(row: Row<'Builder'>, viewer: Viewer) {
  return { builder: showBuilder(row), orgIds: orgIdsOf(viewer) };
}

export const builderEndpoints = [
  readEndpoint({
    id: 'getMyInfo',
    path: '/my-info',
    tag,
    summary: 'Tells who is asking.',
    input: z.object({}),
    read: getOwnBuilder,
    output: builderInfo,
    show: (found, { call }) => showBuilderInfo(found, call.viewer),
  }),
  listEndpoint({
    id: 'listBuilders',
    path: '/orgs/{orgId}/builders',
    tag,
    summary: "Lists an org's members, by the time that they became builders, newest first.",
    input: z.object({ orgId }),
    item: builder,
    list: within(getOwnOrg, listBuilders),
    show: showBuilder,
  }),
];
