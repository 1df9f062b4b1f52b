/** The form inputs of approval rules, and the rules that they describe. */
import { useState } from 'react';
import { WriteType } from '../../__generated__/enums.ts';
import { Action, CheckBox, type FormValues, TextInput } from '../parts/form.tsx';
import { formatWords } from '../parts/status.tsx';

/** The inputs are named like the API's members, so that the API's errors are shown next to them. */
const getPath = (index: number) => `rules[${index}]`;
const getTypeName = (index: number, type: string) => `${getPath(index)}.types/${type}`;

/** Returns the rules of a submitted form. */
export function readApprovalRules(values: FormValues) {
  const rules = [];
  for (let index = 0; `${getPath(index)}.name` in values; index += 1) {
    const readText = (member: string) => String(values[`${getPath(index)}.${member}`]);
    rules.push({
      name: readText('name'),
      types: WriteType.filter((type) => values[getTypeName(index, type)]),
      objects: splitNames(readText('objects')),
      fields: splitNames(readText('fields')),
      maxPerDay: Number(readText('maxPerDay')),
    });
  }
  return rules;
}

/** Returns null for an empty text, which means all values. */
function splitNames(text: string): string[] | null {
  const names = text.split(/[\s,]+/).filter(Boolean);
  return names.length > 0 ? names : null;
}

export function ApprovalRules() {
  const [keys, setKeys] = useState<number[]>([]);
  const add = () => setKeys([...keys, (keys.at(-1) ?? 0) + 1]);
  return (
    <>
      {keys.map((key, index) => (
        <fieldset key={key} className="fields">
          <legend className="strong">Rule {index + 1}</legend>
          <TextInput
            name={`${getPath(index)}.name`}
            label="Rule name"
            isRequired
            help="Approved proposals show it."
          />
          <div className="checks">
            {WriteType.map((type) => (
              <CheckBox key={type} name={getTypeName(index, type)} label={formatWords(type)} />
            ))}
          </div>
          <TextInput
            name={`${getPath(index)}.objects`}
            label="Only these objects"
            help="Names, separated by commas. Empty: all objects of the session."
          />
          <TextInput
            name={`${getPath(index)}.fields`}
            label="Only these fields"
            help="Names, separated by commas. Empty: all fields."
          />
          <TextInput
            name={`${getPath(index)}.maxPerDay`}
            label="Approvals in 24 hours, at most"
            type="number"
            defaultValue="10"
            isRequired
          />
          <div className="row end">
            <Action kind="quiet" onPress={() => setKeys(keys.filter((other) => other !== key))}>
              Remove rule {index + 1}
            </Action>
          </div>
        </fieldset>
      ))}
      <div className="row">
        <Action onPress={add}>Add approval rule</Action>
        <span className="quiet">Writes that fit a rule need no approval by a person.</span>
      </div>
    </>
  );
}
