/** The steps of a new project on its overview, until all are done or the user hides them. */
import { useState } from 'react';
import { Link } from 'wouter';
import { useProjectLink } from '../parts/filters.tsx';
import { Action } from '../parts/form.tsx';
import { Panel } from '../parts/page.tsx';
import { useProgress } from './progress.ts';

const POLL_MS = 10_000;
const getHiddenKey = (projectId: string) => `gateway.checklist.hidden.${projectId}`;

export default function Checklist({ project: projectIdOrName }: { project: string }) {
  const progress = useProgress(projectIdOrName, POLL_MS);
  const linkTo = useProjectLink(projectIdOrName);
  const key = getHiddenKey(progress?.project.id ?? '');
  const [isHidden, setHidden] = useState(() => localStorage.getItem(key) !== null);
  if (!progress || isHidden || progress.steps.every(({ isDone }) => isDone)) return null;
  const hide = () => {
    localStorage.setItem(key, 'true');
    setHidden(true);
  };
  const doneCount = progress.steps.filter(({ isDone }) => isDone).length;
  return (
    <Panel
      title={`Get started: ${doneCount} of ${progress.steps.length} done`}
      actions={
        <>
          <Link href={linkTo('start')}>Continue</Link>
          <Action kind="quiet" onPress={hide}>
            Hide
          </Action>
        </>
      }
    >
      <ol className="steps">
        {progress.steps.map(({ id, title, isDone }) => (
          <li key={id} className={isDone ? 'done' : ''}>
            {title}
            <span className="hidden">{isDone ? ' (done)' : ' (open)'}</span>
          </li>
        ))}
      </ol>
    </Panel>
  );
}
