import { Tabs } from 'radix-ui'
import { useState } from 'react'
import { CopyButton } from './CopyButton.tsx'
import { chooseClient, chosenClient } from '../lib/chosen-client.ts'
import { t } from '../language/t.ts'

interface Props {
  /** Names the content of the snippets. */
  readonly label: string
  /** The first snippet is selected, or that of the language that was chosen before, which then stands first. */
  readonly snippets: readonly {
    readonly id: string
    readonly client: string
    readonly code: string
    /** If it is more than "Copiar" and the client. */
    readonly copyLabel?: string
  }[]
  readonly className?: string
}

/** The same code in several languages, each with a copy button. */
export function SnippetTabs({ label, snippets: unordered, className }: Props) {
  // A tab does not move while it is clicked.
  const [chosen] = useState(chosenClient)
  const snippets = unordered.toSorted((a, b) => Number(b.id === chosen) - Number(a.id === chosen))
  return (
    <Tabs.Root
      {...(snippets[0] ? { defaultValue: snippets[0].id } : {})}
      onValueChange={chooseClient}
      {...(className === undefined ? {} : { className })}
    >
      <Tabs.List aria-label={label} className="flex flex-wrap border-b border-line">
        {snippets.map(({ id, client }) => (
          <Tabs.Trigger
            key={id}
            value={id}
            className="-mb-px min-h-11 border-b-2 border-transparent px-4 text-sm font-medium text-muted hover:text-ink data-[state=active]:border-accent data-[state=active]:text-ink md:min-h-10"
          >
            {client}
          </Tabs.Trigger>
        ))}
      </Tabs.List>
      {snippets.map(({ id, client, code, copyLabel = t('Copiar {client}', { client }) }) => (
        <Tabs.Content key={id} value={id} className="mt-3 grid justify-items-start gap-3">
          {/* Focusable, so that it scrolls by keyboard. */}
          {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
          <pre
            tabIndex={0}
            aria-label={t('Exemplo: {client}', { client })}
            className="max-h-[50dvh] w-full overflow-auto rounded-lg bg-sunken p-4 text-sm leading-relaxed"
          >
            <code>{code}</code>
          </pre>
          <CopyButton text={code} label={copyLabel} />
        </Tabs.Content>
      ))}
    </Tabs.Root>
  )
}
