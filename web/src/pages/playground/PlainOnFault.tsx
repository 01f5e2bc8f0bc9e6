import { Component, type ReactNode } from 'react'

interface Props {
  readonly plain: ReactNode
  readonly children: ReactNode
}

/** Shows the plain text where the parser fails, as it does on a thousand nested quotes: the page must not. */
export class PlainOnFault extends Component<Props, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false }

  static getDerivedStateFromError(): { readonly hasFailed: boolean } {
    return { hasFailed: true }
  }

  override render(): ReactNode {
    return this.state.hasFailed ? this.props.plain : this.props.children
  }
}
