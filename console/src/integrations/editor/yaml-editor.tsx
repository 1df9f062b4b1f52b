/** An editor for an integration's content as YAML. The gateway checks the content when it is saved. */
import { StreamLanguage } from '@codemirror/language';
import { isCollection, isNode, parseDocument } from 'yaml';
import { CodeEditor, type EditorProps, type Format } from './code-editor.tsx';

const TOKENS: [RegExp, string][] = [
  [/#.*/, 'comment'],
  [/[\w$-]+(?=\s*:(\s|$))/, 'propertyName'],
  [/"(?:[^"\\]|\\.)*"|'[^']*'/, 'string'],
  [/(?:true|false|null|-?\d+(?:\.\d+)?)(?=\s|$)/, 'number'],
];

/** Colors names, quoted strings, numbers and comments. Block scalars have the color of plain text. */
const language = StreamLanguage.define({
  token(stream) {
    if (stream.eatSpace()) return null;
    for (const [pattern, token] of TOKENS) if (stream.match(pattern)) return token;
    stream.match(/\S[^\s#]*/);
    return null;
  },
});

export const YAML_FORMAT: Format = {
  extensions: language,
  check: ({ state }) =>
    parseDocument(state.doc.toString()).errors.map(({ pos: [from, to], message }) => ({
      from: Math.min(from, state.doc.length),
      to: Math.min(to, state.doc.length),
      path: '',
      // Only the first line describes the error. The other lines repeat the text.
      detail: `Not YAML: ${message.split('\n')[0]}`,
    })),
  findRange(state, path) {
    const document = parseDocument(state.doc.toString());
    for (let length = path.length; length > 0; length -= 1) {
      const node = document.getIn(path.slice(0, length), true);
      if (!isNode(node) || !node.range) continue;
      const [from, to] = node.range;
      // For an object or list, only the first character is marked, because the complete value may be long.
      return { from, to: isCollection(node) ? from + 1 : to };
    }
    return { from: 0, to: Math.min(1, state.doc.length) };
  },
};

export default function YamlEditor(props: EditorProps) {
  return <CodeEditor {...props} format={YAML_FORMAT} />;
}
