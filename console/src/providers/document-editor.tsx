/** An editor for the document of a custom provider, which completes members and values from the published schema. */
import { autocompletion } from '@codemirror/autocomplete';
import { PROVIDER_SCHEMA } from '../../__generated__/provider-schema.ts';
import { CodeEditor, type EditorProps, type Format } from '../integrations/editor/code-editor.tsx';
import { YAML_FORMAT } from '../integrations/editor/yaml-editor.tsx';
import { createSchemaCompletion } from './schema-completion.ts';

const DOCUMENT_FORMAT: Format = {
  ...YAML_FORMAT,
  extensions: [
    YAML_FORMAT.extensions,
    autocompletion({ override: [createSchemaCompletion(PROVIDER_SCHEMA)], icons: false }),
  ],
};

export default function DocumentEditor(props: EditorProps) {
  return <CodeEditor {...props} format={DOCUMENT_FORMAT} />;
}
