import { z } from 'zod';
import { read } from '../../../domain/access/declared-read.ts';
import type { ProjectReference } from '../../../domain/access/input-project.ts';
import { projectIdOrName } from '../../../domain/base/names.ts';
import { listAccountObjects } from '../../../domain/connections/connection/account-objects.ts';
import { getConnection } from '../../../domain/connections/connection/connection.ts';
import { providerObjectResource } from '../../../domain/connections/provider/provider.ts';
import { id } from '../../../kernel/ids.ts';
import { readEndpoint } from '../../endpoint/resource-endpoints.ts';

const accountObjects = z
  .object({
    objects: z
      .array(providerObjectResource)
      .nullable()
      .describe('The objects. Absent if the provider does not list its objects.'),
  })
  .describe('The objects of the account.');

export const accountObjectEndpoints = [
  readEndpoint({
    id: 'listAccountObjects',
    path: '/projects/{projectIdOrName}/connections/{connectionId}/objects',
    tag: 'Connections',
    input: z.object({ projectIdOrName, connectionId: id.describe('The id of the connection.') }),
    read: read(
      listAccountObjects.needs,
      'Reads the objects of an account from its provider, custom ones included.',
      async (call, key: ProjectReference & { connectionId: string }) => {
        return { objects: await listAccountObjects(call, await getConnection(call, key)) };
      },
    ),
    resource: accountObjects,
  }),
];
