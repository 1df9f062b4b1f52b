/** The records of the newest installation as they arrive. */
import { Link } from 'wouter';
import { RecordPages } from '../installations/records.tsx';
import { TriggerAction } from '../installations/trigger-action.tsx';
import { useProjectLink } from '../parts/filters.tsx';
import { Loaded } from '../parts/page.tsx';

const PREVIEW_SIZE = 5;

interface FirstRecordsProps {
  project: string;
  installation: {
    id: string;
    group: { groupRef: string };
    integration: { name: string };
    objects: readonly { objectName: string; recordsRead: number }[];
  };
}

export function FirstRecords({ project, installation }: FirstRecordsProps) {
  const linkTo = useProjectLink(project);
  const { id, group, integration, objects } = installation;
  const target = {
    projectIdOrName: project,
    integrationIdOrName: integration.name,
    groupRef: group.groupRef,
  };
  const firstRead = objects.find(({ recordsRead }) => recordsRead > 0);
  return (
    <>
      <ul className="plain-list">
        {objects.map(({ objectName, recordsRead }) => (
          <li key={objectName}>
            <span className="strong">{objectName}</span>
            <div className="row">
              <span>
                {recordsRead.toLocaleString('en')} {recordsRead === 1 ? 'record' : 'records'} read
              </span>
              {recordsRead === 0 && <TriggerAction input={{ ...target, objectName }} />}
            </div>
          </li>
        ))}
      </ul>
      {firstRead && (
        <>
          <h3>Records of {firstRead.objectName}</h3>
          <Loaded resetKey={id}>
            <RecordPages
              id={id}
              query={{ objectName: firstRead.objectName, filters: null }}
              pageSize={PREVIEW_SIZE}
            />
          </Loaded>
        </>
      )}
      <p>
        <Link href={linkTo(`installations/${id}`)}>Open the installation</Link>
      </p>
    </>
  );
}
