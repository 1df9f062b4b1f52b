/** Items that a reader has acknowledged on the overview of a project. They are stored in this browser. */
import { useState } from 'react';

/** The acknowledged state of each item, by the item's key. */
type Marks = Record<string, string>;

const getStorageKey = (project: string) => `gateway.acknowledged.${project}`;

function storedMarks(project: string): Marks {
  try {
    return JSON.parse(localStorage.getItem(getStorageKey(project)) ?? '{}');
  } catch {
    return {};
  }
}

interface Item {
  key: string;
  /** The state that is acknowledged. With another state, the item needs attention again. */
  mark: string;
}

export function useAcknowledged(project: string) {
  const [marks, setMarks] = useState(() => storedMarks(project));
  const store = (changed: Marks) => {
    localStorage.setItem(getStorageKey(project), JSON.stringify(changed));
    setMarks(changed);
  };
  return {
    isAcknowledged: ({ key, mark }: Item) => marks[key] === mark,
    acknowledge: ({ key, mark }: Item) => store({ ...marks, [key]: mark }),
    restore({ key }: Item) {
      const { [key]: _restored, ...others } = marks;
      store(others);
    },
  };
}
