/** The content of a revision as JSON, with completion and checks from the schema. */
import { autocompletion } from '@codemirror/autocomplete';
import { json, jsonParseLinter } from '@codemirror/lang-json';
import { CodeEditor, type EditorProps, type Format } from './code-editor.tsx';
import { completeContent } from './completion.ts';
import { checkContent } from './findings.ts';
import { findRange } from './json-tree.ts';

const parseLinter = jsonParseLinter();

const JSON_FORMAT: Format = {
  extensions: [json(), autocompletion({ override: [completeContent], icons: false })],
  check(view) {
    const syntaxErrors = parseLinter(view).map(({ from, to, message }) => ({
      from,
      to,
      path: '',
      detail: `Not JSON: ${message}`,
    }));
    return syntaxErrors.length > 0 ? syntaxErrors : checkContent(view.state);
  },
  findRange,
};

export default function JsonEditor(props: EditorProps) {
  return <CodeEditor {...props} format={JSON_FORMAT} />;
}
