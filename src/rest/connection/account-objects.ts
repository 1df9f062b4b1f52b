import { z } from 'zod';
import { listAccountObjects } from '../../domain/connection/account-objects.ts';
import { getConnection } from '../../domain/connection/connection.ts';
import { read } from '../../domain/declared-read.ts';
import { projectIdOrName } from '../../domain/names.ts';
import type { NamesProject } from '../../domain/scope.ts';
import { id } from '../../ids.ts';
import { readEndpoint } from '../endpoint/read-endpoint.ts';
import { resource } from '../openapi/schemas.ts';

const accountObject = resource('AccountObject', 'An object of a connected account.', {
  name: z.string().describe('The name in integrations and writes.'),
  displayName: z.string().describe('The display name.'),
});

export const accountObjectEndpoints = [
  readEndpoint({
    id: 'listAccountObjects',
    path: '/projects/{projectIdOrName}/connections/{connectionId}/objects',
    tag: 'Connections',
    input: z.object({ projectIdOrName, connectionId: id.describe('The id of the connection.') }),
    read: read(
      listAccountObjects.needs,
      'Reads the objects of an account from its provider, custom ones included.',
      async (call, key: NamesProject & { connectionId: string }) => {
        const objects = await listAccountObjects(call, await getConnection(call, key));
        return { objects: objects?.map(({ name, displayName }) => ({ name, displayName })) };
      },
    ),
    output: z
      .object({
        objects: z
          .array(accountObject)
          .optional()
          .describe('Absent if the provider does not list its objects.'),
      })
      .describe('The objects of the account.'),
    show: (found) => found,
  }),
];
