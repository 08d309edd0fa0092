"""What a file of JavaScript or TypeScript says of itself."""
