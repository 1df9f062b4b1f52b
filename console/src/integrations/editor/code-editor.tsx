/**
 * A text editor (CodeMirror) in a shadow tree. There its styles are style sheets, which the page's policy
 * permits.
 */
import { completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import {
  bracketMatching,
  foldGutter,
  indentOnInput,
  syntaxHighlighting,
} from '@codemirror/language';
import { type Diagnostic, linter, lintGutter, lintKeymap } from '@codemirror/lint';
import { EditorState, type Extension, StateEffect } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import type { Finding, LocatedFinding } from './findings.ts';
import type { TextRange } from './json-tree.ts';
import { parsePath, type Step } from './members.ts';
import { COLORS, THEME } from './theme.ts';

/** A finding with its line number, counted from 1. */
export interface LineFinding extends Finding {
  line: number;
}

/** The language of the text. */
export interface Format {
  extensions: Extension;
  /** Checks the text without a request to the gateway. */
  check: (view: EditorView) => LocatedFinding[];
  /**
   * Returns the position of the value at a path, or of the innermost existing value that contains the path.
   */
  findRange: (state: EditorState, path: readonly Step[]) => TextRange;
}

export interface EditorProps {
  label: string;
  initial: string;
  /** The issues of the saved text that the gateway refused. */
  serverFindings: readonly Finding[];
  onChange: (text: string) => void;
  /** Receives all current findings of the text. */
  onFindings: (findings: LineFinding[]) => void;
}

interface CodeEditorProps extends EditorProps {
  format: Format;
}

const LINT_MS = 200;
const refusal = StateEffect.define<readonly Finding[]>();

export function CodeEditor(props: CodeEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const propsRef = useRef(props);
  propsRef.current = props;
  useEffect(() => {
    if (!host.current) return;
    const editorView = createView(host.current, propsRef);
    view.current = editorView;
    return () => editorView.destroy();
  }, []);
  useEffect(() => {
    // Refused members are marked at their positions.
    view.current?.dispatch({ effects: refusal.of(props.serverFindings) });
  }, [props.serverFindings]);
  return <div ref={host} className="code" />;
}

type PropsRef = { current: CodeEditorProps };

function createView(host: HTMLElement, propsRef: PropsRef): EditorView {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const { initial, label, format } = propsRef.current;
  const state = EditorState.create({
    doc: initial,
    extensions: [
      lineNumbers(),
      foldGutter(),
      history(),
      indentOnInput(),
      bracketMatching(),
      format.extensions,
      syntaxHighlighting(COLORS),
      linter((editorView) => lint(editorView, propsRef), {
        delay: LINT_MS,
        needsRefresh: ({ transactions }) =>
          transactions.some(({ effects }) => effects.some((effect) => effect.is(refusal))),
      }),
      lintGutter(),
      keymap.of([...completionKeymap, ...lintKeymap, ...historyKeymap, ...defaultKeymap]),
      EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false' }),
      EditorView.updateListener.of(({ docChanged, state: { doc } }) => {
        if (docChanged) propsRef.current.onChange(doc.toString());
      }),
      THEME,
    ],
  });
  // Escape first closes the editor's pop-ups, and then the surrounding dialog.
  host.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && event.defaultPrevented) event.stopPropagation();
  });
  const view = new EditorView({ state, parent: root, root });
  // Scrollable elements must be reachable by keyboard.
  view.scrollDOM.tabIndex = 0;
  return view;
}

function lint(view: EditorView, { current }: PropsRef): Diagnostic[] {
  const { serverFindings, onFindings, format } = current;
  const { state } = view;
  const locatedFindings = serverFindings.map((finding) => ({
    ...finding,
    ...format.findRange(state, parsePath(finding.path)),
  }));
  const findings = [...format.check(view), ...locatedFindings];
  onFindings(
    findings.map(({ path, detail, from }) => ({
      path,
      detail,
      line: state.doc.lineAt(from).number,
    })),
  );
  return findings.map(({ from, to, path, detail }) => ({
    from,
    to,
    severity: 'error' as const,
    message: path ? `${path} ${detail}` : detail,
  }));
}
