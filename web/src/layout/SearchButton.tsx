import { Search } from 'lucide-react'
import { t } from '../language/t.ts'

export function SearchButton({ onClick }: { readonly onClick: () => void }) {
  return (
    <button
      type="button"
      aria-haspopup="dialog"
      aria-keyshortcuts="Control+K Meta+K"
      aria-label={t('Procurar (Ctrl K)')}
      title={t('Procurar (Ctrl K)')}
      onClick={onClick}
      className="flex size-10 shrink-0 items-center justify-center rounded-lg text-muted hover:bg-sunken hover:text-ink"
    >
      <Search aria-hidden="true" className="size-4.5" />
    </button>
  )
}
