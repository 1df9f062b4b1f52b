/** The names of an object in messages and events: the provider's name, and the name to which the integration maps it. */
import { run, statements } from '../../../database/statements/statements.ts';
import type { Row } from '../../../database/statements/tables.ts';
import type { Transaction } from '../../../database/transactions/transaction.ts';
import { type IntegrationContent, readIntegrationContent } from './integration-content.ts';

/** Members that mean the same in every message and event, unlike `objectName`, which the reference API defines. */
export interface ObjectNames {
  rawObjectName: string;
  mappedObjectName: string;
}

export function createObjectNames(
  objectName: string,
  mappedName: string | null | undefined,
): ObjectNames {
  return { rawObjectName: objectName, mappedObjectName: mappedName ?? objectName };
}

/** Finds the names of an object in the content of a revision. */
export function getObjectNames(
  { read }: Pick<IntegrationContent, 'read'>,
  objectName: string,
): ObjectNames {
  const object = read?.objects.find((candidate) => candidate.objectName === objectName);
  return createObjectNames(objectName, object?.mapToName);
}

/** Finds the names of an object in the latest revision of an integration, as the transaction sees it. */
export async function getLatestObjectNames(
  tx: Transaction,
  { projectId, id }: Pick<Row<'Integration'>, 'projectId' | 'id'>,
  objectName: string,
): Promise<ObjectNames> {
  const [revision] = await run(
    tx,
    statements
      .selectFrom('Integration')
      .innerJoin('Revision', (join) =>
        join
          .onRef('Revision.projectId', '=', 'Integration.projectId')
          .onRef('Revision.id', '=', 'Integration.latestRevisionId'),
      )
      .select('Revision.content')
      .where('Integration.projectId', '=', projectId)
      .where('Integration.id', '=', id),
  );
  return revision
    ? getObjectNames(readIntegrationContent(revision), objectName)
    : createObjectNames(objectName, null);
}
