/** The objects that an installation reads: their schedule, record counts and actions. */
import { graphql, useFragment } from 'react-relay';
import type { installedObjects_installation$key } from '../../__generated__/installedObjects_installation.graphql.ts';
import { Empty } from '../parts/page.tsx';
import { Schedule } from '../parts/schedule.tsx';
import { Status } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { DueTime, Time } from '../parts/time.tsx';
import { ObjectName } from './object-name.tsx';
import { PauseAction, ResumeAction } from './pause-action.tsx';
import { TriggerAction } from './trigger-action.tsx';

const OBJECTS = graphql`
  fragment installedObjects_installation on Installation {
    id
    group {
      groupRef
    }
    integration {
      name
    }
    objects {
      objectName
      mappedObjectName
      schedule
      lastReadTime
      nextReadTime
      recordsRead
      backfillDone
      paused
      pauseNote
    }
  }
`;

interface InstalledObjectsProps {
  project: string;
  installation: installedObjects_installation$key;
}

const COLUMNS = ['Object', 'Status', 'Last read', 'Next read', 'Records', 'Schedule', 'Actions'];

export function InstalledObjects({ project, installation }: InstalledObjectsProps) {
  const { id, group, integration, objects } = useFragment(OBJECTS, installation);
  if (objects.length === 0) return <Empty title="No objects to read" />;
  const trigger = {
    projectIdOrName: project,
    integrationIdOrName: integration.name,
    groupRef: group.groupRef,
  };
  return (
    <Table label="Objects" columns={COLUMNS}>
      {objects.map(({ objectName, mappedObjectName, paused, ...row }) => {
        const input = { projectIdOrName: project, installationId: id, objects: [objectName] };
        const state = describeState(row);
        return (
          <tr key={objectName}>
            <td>
              <ObjectName objectName={objectName} mappedObjectName={mappedObjectName} />
            </td>
            <td>
              {paused ? (
                <>
                  <Status value="PAUSED" /> <span className="quiet">{row.pauseNote}</span>
                </>
              ) : (
                <Status value={state} />
              )}
            </td>
            <td>
              <Time value={row.lastReadTime} none="never" />
            </td>
            <td>
              <DueTime value={row.nextReadTime} />
            </td>
            <td>{row.recordsRead.toLocaleString('en')}</td>
            <td>{row.schedule ? <Schedule cron={row.schedule} /> : '—'}</td>
            <td>
              <div className="row">
                <TriggerAction input={{ ...trigger, objectName }} />
                {paused && <ResumeAction input={input} />}
                {!paused && state !== 'MANUAL' && <PauseAction input={input} />}
              </div>
            </td>
          </tr>
        );
      })}
    </Table>
  );
}

interface ReadState {
  schedule: string | null | undefined;
  nextReadTime: string | null | undefined;
  backfillDone: boolean;
}

/**
 * Describes an object without a schedule: it is read only on demand, except for a first read that is still
 * due.
 */
function describeState({ schedule, nextReadTime, backfillDone }: ReadState): string {
  if (schedule == null && nextReadTime == null) return 'MANUAL';
  return backfillDone ? 'ACTIVE' : 'PENDING';
}
