/** A search over pages, acts, keys and models, opened by Ctrl-K. A chunk of its own. */
import { useId, useState } from 'react'
import { Dialog } from '../components/Dialog.tsx'
import { Input } from '../components/Input.tsx'
import { counted } from '../format/number.ts'
import { classNames } from '../lib/class-names.ts'
import { KIND_WORDS, chooseCommands, type Command } from './commands.ts'
import type { MenuEntry } from './menu.ts'
import { useCommands } from './use-commands.ts'
import { t } from '../language/t.ts'

interface Props {
  readonly menu: readonly MenuEntry[]
  readonly isOpen: boolean
  readonly onClose: () => void
}

export function CommandMenu({ menu, isOpen, onClose }: Props) {
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={t('Ir para')} className="sm:max-w-xl!">
      <CommandList menu={menu} onClose={onClose} />
    </Dialog>
  )
}

function CommandList({ menu, onClose }: Omit<Props, 'isOpen'>) {
  const [search, setSearch] = useState('')
  const [active, setActive] = useState(0)
  const id = useId()
  const found = chooseCommands(useCommands(menu), search)
  const optionId = (place: number): string => `${id}-${place}`
  const move = (by: number): void => {
    if (found.length === 0) return
    const next = (active + by + found.length) % found.length
    setActive(next)
    document.getElementById(optionId(next))?.scrollIntoView({ block: 'nearest' })
  }
  const choose = (command: Command | undefined): void => {
    if (!command) return
    onClose()
    command.run()
  }
  return (
    <div className="grid gap-3">
      <Input
        type="search"
        role="combobox"
        aria-label={t('Procurar página, ação, chave ou modelo')}
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={found[active] ? optionId(active) : undefined}
        autoComplete="off"
        spellCheck={false}
        // A dialog focuses the element with this attribute, which React does not render.
        ref={(field) => field?.setAttribute('autofocus', '')}
        placeholder={t('Página, ação, chave ou modelo')}
        value={search}
        onChange={(event) => {
          setSearch(event.target.value)
          setActive(0)
        }}
        onKeyDown={(event) => {
          if (event.key === 'ArrowDown') move(1)
          else if (event.key === 'ArrowUp') move(-1)
          else if (event.key === 'Enter') choose(found[active])
          else return
          event.preventDefault()
        }}
      />
      <p role="status" className="sr-only">
        {counted(found.length, t('resultado'), t('resultados'))}
      </p>
      <div
        id={id}
        role="listbox"
        aria-label={t('Resultados')}
        className="h-[min(24rem,50dvh)] overflow-y-auto rounded-lg border border-line p-1"
      >
        {found.map((command, place) => (
          <Option
            key={command.id}
            id={optionId(place)}
            command={command}
            isActive={place === active}
            onChoose={() => choose(command)}
          />
        ))}
      </div>
      {found.length === 0 && <p className="text-sm text-muted">{t('Nada com esse nome.')}</p>}
    </div>
  )
}

interface OptionProps {
  readonly id: string
  readonly command: Command
  readonly isActive: boolean
  readonly onChoose: () => void
}

function Option({ id, command: { kind, label, icon: Icon }, isActive, onChoose }: OptionProps) {
  return (
    // By keyboard an option is chosen in the search field, which announces the active one.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
    <div
      id={id}
      role="option"
      aria-selected={isActive}
      tabIndex={-1}
      onClick={onChoose}
      className={classNames(
        'flex min-h-11 cursor-pointer items-center gap-3 rounded-md px-3 text-sm md:min-h-10',
        isActive ? 'bg-accent-soft' : 'hover:bg-sunken',
      )}
    >
      <Icon aria-hidden="true" className="size-4 shrink-0 text-muted" />
      <span className="min-w-0 grow truncate font-medium">{label}</span>
      <span className="text-xs text-muted">{KIND_WORDS()[kind]}</span>
    </div>
  )
}
