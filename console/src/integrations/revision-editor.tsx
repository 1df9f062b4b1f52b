/** An integration's content as JSON, in an editor that completes and checks. What the gateway refuses is named in place. */
import { lazy, type ReactNode, useMemo, useState } from 'react';
import type { Problem } from '../network/problem.ts';
import { Action, Refusal } from '../parts/form.tsx';
import { Loaded } from '../parts/page.tsx';
import type { Finding } from './editor/findings.ts';
import type { LineFinding } from './editor/json-editor.tsx';

/** The editor is loaded when one is opened. */
const JsonEditor = lazy(() => import('./editor/json-editor.tsx'));

interface RevisionEditorProps {
  initial: string;
  problem: Problem | null;
  /** Where the content is in the input: issues are named by paths from there. */
  prefix: string;
  isRunning: boolean;
  save: string;
  onSave: (content: Record<string, unknown>) => void;
  onCancel: () => void;
  children?: ReactNode;
}

const NONE: Finding[] = [];

export function RevisionEditor(props: RevisionEditorProps) {
  const { initial, problem, prefix, isRunning, save, onSave, onCancel, children } = props;
  const [text, setText] = useState(initial);
  const [saved, setSaved] = useState<string | null>(null);
  const [findings, setFindings] = useState<LineFinding[]>([]);
  // What was refused of another text may be mended in this one.
  const isOfText = saved === text;
  const refused = useMemo(
    () => (problem && isOfText ? findingsOf(problem, prefix) : NONE),
    [problem, isOfText, prefix],
  );
  const submit = () => {
    const content = objectOf(text);
    setSaved(text);
    if (content) onSave(content);
  };
  return (
    <div className="editor">
      <Loaded place="editor">
        <JsonEditor
          label="Content"
          initial={initial}
          refused={refused}
          onChange={setText}
          onFindings={setFindings}
        />
      </Loaded>
      {findings.length > 0 && (
        <div role="alert" className="refusal">
          <ul className="issues">
            {findings.map(({ line, path, detail }) => (
              <li key={`${line} ${path} ${detail}`}>
                Line {line}: {path && <code>{path}</code>} {detail}
              </li>
            ))}
          </ul>
        </div>
      )}
      {refused.length === 0 && isOfText && <Refusal problem={problem} />}
      {children}
      <div className="row end">
        <Action onPress={onCancel}>Cancel</Action>
        <Action kind="primary" isPending={isRunning} onPress={submit}>
          {save}
        </Action>
      </div>
    </div>
  );
}

/** Null for what is no JSON object: the editor tells where. */
function objectOf(text: string): Record<string, unknown> | null {
  try {
    const content: unknown = JSON.parse(text);
    const isObject = typeof content === 'object' && content !== null && !Array.isArray(content);
    return isObject ? { ...content } : null;
  } catch {
    return null;
  }
}

function findingsOf({ issues }: Problem, prefix: string): Finding[] {
  return issues.map(({ name, detail }) => ({
    path: name.startsWith(prefix) ? name.slice(prefix.length) : name,
    detail,
  }));
}
