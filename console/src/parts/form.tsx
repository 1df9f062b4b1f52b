/** Forms: labeled inputs, with the gateway's errors next to the fields that they name. */
import {
  createContext,
  type FormEvent,
  type InputEvent,
  type ReactNode,
  useContext,
  useLayoutEffect,
  useState,
} from 'react';
import {
  Form as AriaForm,
  Button,
  type ButtonProps,
  Checkbox,
  FieldError,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  Select,
  SelectValue,
  Text,
  TextArea,
  TextField,
} from 'react-aria-components';
import {
  findInput,
  type Issue,
  type Labels,
  needsSubject,
  type Problem,
  printDetail,
  printIssue,
  toInputName,
} from '../network/problem.ts';
import { usePartMessages } from './part-messages.ts';

interface ActionProps extends Omit<ButtonProps, 'className'> {
  kind?: 'primary' | 'plain' | 'danger' | 'quiet';
}

export function Action({ kind = 'plain', ...props }: ActionProps) {
  return <Button {...props} className={`action ${kind}`} />;
}

export type FormValues = Record<string, FormDataEntryValue>;

interface FormProps {
  /** Receives the values of the inputs, and of the pressed button if it has a name. */
  onSubmit: (values: FormValues) => unknown;
  /**
   * The last error. Its issues are shown next to the fields that they name, and other issues above the
   * buttons.
   */
  problem?: Problem | null;
  children: ReactNode;
}

/** The labels of the inputs of the form, which its inputs add themselves. */
const LabelsContext = createContext<Map<string, string>>(new Map());

/** Makes the label of an input known to the form, whose errors may name it. */
function useLabel(name: string | undefined, label: string): void {
  const labels = useContext(LabelsContext);
  useLayoutEffect(() => {
    if (name === undefined) return;
    labels.set(name, label);
    return () => void labels.delete(name);
  }, [labels, name, label]);
}

export function Form({ onSubmit, problem, children }: FormProps) {
  const [labels] = useState(() => new Map<string, string>());
  // An error disappears when its field is edited. If it disappeared on blur, the button would move away from
  // the pointer.
  const [edited, setEdited] = useState<{ problem: Problem; names: string[] } | null>(null);
  const editedNames = problem && edited?.problem === problem ? edited.names : [];
  const recordEdit = ({ target }: InputEvent<HTMLFormElement>) => {
    const { name } = target as unknown as HTMLInputElement;
    if (problem) setEdited({ problem, names: [...editedNames, name] });
  };
  // React Aria's form accepts this event, but its type lacks it.
  const inputEvents: object = { onInput: recordEdit };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const { submitter } = event.nativeEvent as SubmitEvent;
    onSubmit(Object.fromEntries(new FormData(event.currentTarget, submitter)));
  };
  const errors = Object.entries(groupErrors(problem?.issues ?? [], labels));
  const currentErrors = Object.fromEntries(errors.filter(([name]) => !editedNames.includes(name)));
  return (
    <AriaForm className="form" onSubmit={submit} validationErrors={currentErrors} {...inputEvents}>
      <LabelsContext value={labels}>{children}</LabelsContext>
    </AriaForm>
  );
}

/** Returns the errors of each input. */
function groupErrors(issues: readonly Issue[], labels: Labels): Record<string, string[]> {
  const errors: Record<string, string[]> = {};
  for (const issue of issues) {
    const input = findInput(issue, [...labels.keys()]) ?? toInputName(issue.name);
    errors[input] = [...(errors[input] ?? []), printIssue(issue, input, labels)];
  }
  return errors;
}

interface TextInputProps {
  name: string;
  label: string;
  help?: ReactNode;
  type?: 'text' | 'password' | 'url' | 'email' | 'number' | 'search' | 'datetime-local';
  isRequired?: boolean;
  defaultValue?: string;
  /** The number of lines. With more than one line, the input is a text area. */
  lines?: number;
  /** True for long lines, such as code. */
  isWide?: boolean;
  placeholder?: string;
  /** True if the input gets the focus when it appears. */
  isFocused?: boolean;
}

export function TextInput(props: TextInputProps) {
  const { label, help, lines = 1, isWide = false, placeholder, isFocused, ...field } = props;
  useLabel(field.name, label);
  return (
    <TextField
      {...field}
      {...(isFocused && { autoFocus: true })}
      className={isWide ? 'field wide' : 'field'}
      autoComplete="off"
    >
      <Label>{label}</Label>
      {lines > 1 ? (
        <TextArea rows={lines} spellCheck={false} />
      ) : (
        <Input placeholder={placeholder} spellCheck={false} />
      )}
      {help && (
        <Text slot="description" className="quiet">
          {help}
        </Text>
      )}
      <InputError label={label} />
    </TextField>
  );
}

/** Shows the errors of an input, each in a line: the browser's, and the gateway's with the label as their subject. */
function InputError({ label }: { label: string }) {
  return (
    <FieldError className="refusal">
      {({ validationErrors }) =>
        validationErrors
          .map((error) => (needsSubject(error) ? `${label} ${error}` : error))
          .join('\n')
      }
    </FieldError>
  );
}

interface ChoiceProps {
  label: string;
  /** True if the label is only for screen readers, because a column header already shows it. */
  isLabelHidden?: boolean;
  name?: string;
  options: readonly { id: string; label: string }[];
  value?: string;
  defaultValue?: string;
  onChange?: (id: string) => void;
  isRequired?: boolean;
  isDisabled?: boolean;
}

export function Choice(props: ChoiceProps) {
  const { label, isLabelHidden = false, options, value, defaultValue, onChange, ...select } = props;
  useLabel(select.name, label);
  const messages = usePartMessages();
  return (
    <Select
      {...select}
      className="field choice"
      {...(value !== undefined && { value })}
      {...(defaultValue !== undefined && { defaultValue })}
      onChange={(key) => onChange?.(String(key))}
      placeholder={messages.choose}
    >
      <Label {...(isLabelHidden && { className: 'hidden' })}>{label}</Label>
      <Button className="action plain chooser">
        <SelectValue />
        <span aria-hidden="true">▾</span>
      </Button>
      <InputError label={label} />
      <Popover className="popover">
        <ListBox items={options} className="options">
          {(option) => <ListBoxItem className="option">{option.label}</ListBoxItem>}
        </ListBox>
      </Popover>
    </Select>
  );
}

/** Shows the part of an error that no field shows. */
interface RefusalProps {
  problem: Problem | null;
  /** The names of inputs that show their own issues. */
  shownNames?: readonly string[];
}

export function Refusal({ problem, shownNames = [] }: RefusalProps) {
  const messages = usePartMessages();
  const labels = useContext(LabelsContext);
  if (!problem) return null;
  const otherIssues = problem.issues.filter((issue) => findInput(issue, shownNames) === undefined);
  const isAllShown = problem.issues.length > 0 && otherIssues.length === 0;
  if (isAllShown) return null;
  return (
    <div role="alert" className="refusal">
      <p>{otherIssues.length > 0 ? messages.rejected : problem.message}</p>
      {otherIssues.length > 0 && (
        <ul>
          {otherIssues.map((issue) => (
            <li key={issue.name + issue.detail}>
              <IssueSubject name={toInputName(issue.name)} labels={labels} />
              {needsSubject(issue.detail) ? ' ' : ': '}
              {printDetail(issue, labels)}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** The label of the input that has the member, or the name of a member that the form has no input for. */
function IssueSubject({ name, labels }: { name: string; labels: Labels }) {
  return labels.get(name) ?? <code>{name}</code>;
}

interface CheckBoxProps {
  name: string;
  label: string;
  isCheckedByDefault?: boolean;
}

export function CheckBox({ name, label, isCheckedByDefault = false }: CheckBoxProps) {
  useLabel(name, label);
  return (
    <Checkbox name={name} value="on" defaultSelected={isCheckedByDefault} className="check">
      <span className="box" aria-hidden="true" />
      {label}
    </Checkbox>
  );
}

interface ControlledCheckBoxProps {
  /** The name of the value in the form. Without a name, the form does not contain the value. */
  name?: string;
  label: string;
  isOn: boolean;
  onChange: (isOn: boolean) => void;
}

export function ControlledCheckBox({ name, label, isOn, onChange }: ControlledCheckBoxProps) {
  useLabel(name, label);
  return (
    <Checkbox
      {...(name !== undefined && { name, value: 'on' })}
      isSelected={isOn}
      onChange={onChange}
      className="check"
    >
      <span className="box" aria-hidden="true" />
      {label}
    </Checkbox>
  );
}

interface SearchProps {
  label: string;
  value: string;
  onChange: (text: string) => void;
}

export function SearchInput({ label, value, onChange }: SearchProps) {
  return (
    <TextField className="field" type="search" value={value} onChange={onChange}>
      <Label>{label}</Label>
      <Input spellCheck={false} />
    </TextField>
  );
}

interface TimeInputProps {
  label: string;
  /** An input for a time. Its value is in the API's format, and it shows the time in the user's time zone. */
  value: string | null;
  onChange: (time: string | null) => void;
  isDisabled?: boolean;
}

export function TimeInput({ label, value, onChange, isDisabled = false }: TimeInputProps) {
  const change = (local: string) => onChange(local ? new Date(local).toISOString() : null);
  return (
    <TextField
      className="field"
      type="datetime-local"
      defaultValue={value ? toLocalTime(value) : ''}
      onChange={change}
      isDisabled={isDisabled}
    >
      <Label>{label}</Label>
      <Input />
    </TextField>
  );
}

const MINUTE_MS = 60_000;

/** Formats a time for the browser's input: local time without a time zone. */
function toLocalTime(time: string): string {
  const date = new Date(time);
  return new Date(date.getTime() - date.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 16);
}
