/** An editor for a revision's content as text. It shows the gateway's findings at their lines. */
import { type ComponentType, lazy, type ReactNode, useMemo, useState } from 'react';
import { type Labels, type Problem, printPredicate } from '../network/problem.ts';
import { Action, Refusal } from '../parts/form.tsx';
import { Loaded } from '../parts/page.tsx';
import type { EditorProps, LineFinding } from './editor/code-editor.tsx';
import type { Finding } from './editor/findings.ts';
import { toApiForm } from './manifest-form.ts';

/** A language of the text: its editor, which is loaded when it opens, and its parser. */
export interface TextFormat {
  Editor: ComponentType<EditorProps>;
  /** Returns the content in the form of the API. Throws if the text is invalid. */
  parse: (text: string) => unknown;
}

const JSON_TEXT: TextFormat = {
  Editor: lazy(() => import('./editor/json-editor.tsx')),
  parse: (text) => toApiForm(JSON.parse(text)),
};

interface RevisionEditorProps {
  /** Default: JSON. */
  format?: TextFormat;
  initial: string;
  problem: Problem | null;
  /**
   * The path of the content in the mutation's input. It is removed from the paths of findings and warnings.
   */
  prefix: string;
  isRunning: boolean;
  submitLabel: string;
  /** Resolves with the gateway's warnings, or with null if the gateway refused the content. */
  onSave: (content: Content) => Promise<readonly string[] | null>;
  /** Called when the content is saved and the user has closed its warnings. */
  onDone: (content: Content) => void;
  onCancel: () => void;
  /** Renders elements below the editor from its content. The content is null if the text is not an object. */
  children?: (content: Content | null) => ReactNode;
}

type Content = Record<string, unknown>;

const NO_FINDINGS: Finding[] = [];
const NO_LABELS: Labels = new Map();

export function RevisionEditor(props: RevisionEditorProps) {
  const { initial, problem, prefix, isRunning, submitLabel, onSave, onDone, onCancel, children } =
    props;
  const { Editor, parse } = props.format ?? JSON_TEXT;
  const [text, setText] = useState(initial);
  const [savedText, setSavedText] = useState<string | null>(null);
  const [findings, setFindings] = useState<LineFinding[]>([]);
  const [saved, setSaved] = useState<{ content: Content; warnings: readonly string[] } | null>(
    null,
  );
  // The gateway's findings are shown only while the text is the one that it refused.
  const isTextSaved = savedText === text;
  const serverFindings = useMemo(
    () => (problem && isTextSaved ? toFindings(problem, prefix) : NO_FINDINGS),
    [problem, isTextSaved, prefix],
  );
  const submit = async () => {
    const content = parseObject(text, parse);
    setSavedText(text);
    const warnings = content && (await onSave(content));
    if (!warnings) return;
    if (warnings.length === 0) onDone(content);
    else setSaved({ content, warnings });
  };
  if (saved) {
    const warningFindings = saved.warnings.map((warning) => parseWarning(warning, prefix));
    return <Warnings findings={warningFindings} onClose={() => onDone(saved.content)} />;
  }
  return (
    <div className="editor">
      <Loaded resetKey="editor">
        <Editor
          label="Content"
          initial={initial}
          serverFindings={serverFindings}
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
      {serverFindings.length === 0 && isTextSaved && <Refusal problem={problem} />}
      {children?.(parseObject(text, parse))}
      <div className="row end">
        <Action onPress={onCancel}>Cancel</Action>
        <Action kind="primary" isPending={isRunning} onPress={submit}>
          {submitLabel}
        </Action>
      </div>
    </div>
  );
}

/** Replaces the editor after a save with warnings, until the user closes it. */
function Warnings({ findings, onClose }: { findings: Finding[]; onClose: () => void }) {
  return (
    <>
      <div role="alert">
        <p>Saved with {findings.length === 1 ? '1 warning' : `${findings.length} warnings`}:</p>
        <ul className="issues">
          {findings.map(({ path, detail }) => (
            <li key={`${path} ${detail}`}>
              {path && <code>{path}</code>} {detail}
            </li>
          ))}
        </ul>
      </div>
      <div className="row end">
        <Action kind="primary" onPress={onClose}>
          Done
        </Action>
      </div>
    </>
  );
}

/** Returns null if the text is not an object. The editor marks the error. */
function parseObject(text: string, parse: TextFormat['parse']): Content | null {
  try {
    const content = parse(text);
    const isObject = typeof content === 'object' && content !== null && !Array.isArray(content);
    return isObject ? { ...content } : null;
  } catch {
    return null;
  }
}

function toFindings({ issues }: Problem, prefix: string): Finding[] {
  return issues.map((issue) => ({
    // An issue of the whole text has the path without the period that ends the prefix.
    path: `${issue.name}.` === prefix ? '' : removePrefix(issue.name, prefix),
    // The editor shows the line of each finding.
    detail: printPredicate(issue, NO_LABELS),
  }));
}

/** Splits a warning, which consists of a path, a colon and a sentence. */
function parseWarning(warning: string, prefix: string): Finding {
  const [, path = '', detail = warning] = /^(\S+): (.*)$/s.exec(warning) ?? [];
  // Warnings have paths in the input, without the name of the argument.
  return { path: removePrefix(path, removePrefix(prefix, 'input.')), detail };
}

function removePrefix(path: string, prefix: string): string {
  return path.startsWith(prefix) ? path.slice(prefix.length) : path;
}
