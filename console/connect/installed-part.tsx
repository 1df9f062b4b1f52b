/** A working integration and the progress of its reads. */
import { useLocale } from 'react-aria-components';
import { graphql, useFragment } from 'react-relay';
import type { installedPart_installation$key } from '../__generated__/installedPart_installation.graphql.ts';
import { usePartMessages } from '../src/parts/part-messages.ts';
import { Status } from '../src/parts/status.tsx';
import { Progress } from '../src/parts/table.tsx';
import { Time } from '../src/parts/time.tsx';
import { useMessages } from './messages.ts';
import { ReadNow } from './read-now.tsx';

const INSTALLATION = graphql`
  fragment installedPart_installation on Installation {
    id
    project {
      id
    }
    group {
      groupRef
    }
    integration {
      name
      latestRevision {
        content {
          read {
            objects {
              objectName
              mapToDisplayName
            }
          }
        }
      }
    }
    healthStatus
    healthReason
    objects {
      objectName
      mappedObjectName
      recordsRead
      lastReadTime
      nextReadTime
    }
    operations(first: 5, status: IN_PROGRESS) {
      nodes {
        id
        metadata {
          progress {
            objectName
            recordsProcessed
            recordsEstimatedTotal
          }
        }
      }
    }
  }
`;

interface InstalledPartProps {
  installation: installedPart_installation$key;
  mayRead: boolean;
}

export function InstalledPart({ installation, mayRead }: InstalledPartProps) {
  const messages = useMessages();
  const { project, group, integration, objects, operations, ...installed } = useFragment(
    INSTALLATION,
    installation,
  );
  const input = {
    projectIdOrName: project.id,
    integrationIdOrName: integration.name,
    groupRef: group.groupRef,
  };
  const findDisplayName = (name: string) =>
    integration.latestRevision.content.read?.objects.find(({ objectName }) => objectName === name)
      ?.mapToDisplayName;
  const findProgress = (name: string) =>
    operations.nodes
      .map(({ metadata }) => metadata.progress)
      .find((candidate) => candidate?.objectName === name);
  return (
    <div className="installed">
      <p>
        <Status
          value={installed.healthStatus}
          label={installed.healthStatus === 'HEALTHY' ? messages.healthy : messages.unhealthy}
        />{' '}
        {installed.healthReason && messages.healthDetail(installed.healthReason)}
      </p>
      <ul className="plain-list">
        {objects.map((object) => {
          const { objectName, mappedObjectName } = object;
          const progress = findProgress(objectName);
          const name = findDisplayName(objectName) ?? mappedObjectName ?? objectName;
          return (
            <li key={objectName}>
              <span className="strong">{name}</span>
              {progress ? (
                <Progress
                  label={messages.progressOf(name)}
                  completed={progress.recordsProcessed}
                  total={progress.recordsEstimatedTotal}
                />
              ) : (
                <div className="row">
                  <RecordCount {...object} />
                  {mayRead && <ReadNow label={name} input={{ ...input, objectName }} />}
                </div>
              )}
            </li>
          );
        })}
      </ul>
    </div>
  );
}

interface RecordCountProps {
  recordsRead: number;
  lastReadTime: string | null | undefined;
  nextReadTime: string | null | undefined;
}

function RecordCount({ recordsRead, lastReadTime, nextReadTime }: RecordCountProps) {
  const { locale } = useLocale();
  const parts = usePartMessages();
  const messages = useMessages();
  return (
    <span className="quiet">
      {parts.records(recordsRead, recordsRead.toLocaleString(locale))}
      {lastReadTime && (
        <>
          , {messages.lastRead} <Time value={lastReadTime} />
        </>
      )}
      {!lastReadTime && nextReadTime && <>, {messages.startingFirstRead}</>}
    </span>
  );
}
