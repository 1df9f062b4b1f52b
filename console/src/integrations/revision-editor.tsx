/** An integration's content as JSON. What the gateway refuses is named with its line. */
import { type ReactNode, useState } from 'react';
import { Label, TextArea, TextField } from 'react-aria-components';
import type { Problem } from '../network/problem.ts';
import { Action } from '../parts/form.tsx';
import { lineOf } from './content.ts';

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

interface Finding {
  line: number | null;
  path: string;
  detail: string;
}

function parse(text: string): Record<string, unknown> | Finding {
  try {
    return JSON.parse(text);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const at = Number(/position (\d+)/.exec(message)?.[1] ?? 0);
    return { line: text.slice(0, at).split('\n').length, path: '', detail: `Not JSON: ${message}` };
  }
}

export function RevisionEditor(props: RevisionEditorProps) {
  const { initial, problem, prefix, isRunning, save, onSave, onCancel, children } = props;
  const [text, setText] = useState(initial);
  const [unread, setUnread] = useState<Finding | null>(null);
  const submit = () => {
    const content = parse(text);
    const isFinding = 'line' in content && 'detail' in content;
    setUnread(isFinding ? (content as Finding) : null);
    if (isFinding) return;
    // Findings tell lines of the text as it is laid out here.
    setText(JSON.stringify(content, null, 2));
    onSave(content as Record<string, unknown>);
  };
  const findings = unread ? [unread] : findingsOf(problem, text, prefix);
  return (
    <div className="editor">
      <TextField className="field" value={text} onChange={setText} isInvalid={findings.length > 0}>
        <Label>Content</Label>
        <TextArea rows={Math.min(28, text.split('\n').length + 1)} spellCheck={false} wrap="off" />
      </TextField>
      {findings.length > 0 && (
        <div role="alert" className="refusal">
          <ul className="issues">
            {findings.map(({ line, path, detail }) => (
              <li key={path + detail}>
                {line !== null && `Line ${line}: `}
                {path && <code>{path}</code>} {detail}
              </li>
            ))}
          </ul>
        </div>
      )}
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

function findingsOf(problem: Problem | null, text: string, prefix: string): Finding[] {
  if (!problem) return [];
  if (problem.issues.length === 0) return [{ line: null, path: '', detail: problem.message }];
  return problem.issues.map(({ name, detail }) => {
    const path = name.startsWith(prefix) ? name.slice(prefix.length) : name;
    return { line: lineOf(text, path), path, detail };
  });
}
