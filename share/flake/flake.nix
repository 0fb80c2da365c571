# The dev shell that `hutch --preset shell` enters when the project has no flake of
# its own. hutch copied it into your configuration directory once; it is yours:
# edit the lists below, and run `nix flake update` beside it for newer packages.
#
# There is no flake.lock beside the shipped copy, as it was written without internet.
# The first run makes one with the nixpkgs of that day; it pins that until you update.
{
  description = "The dev shell of hutch's preset `shell`";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixpkgs-unstable";

  # Programs that nixpkgs does not carry can come from a flake of their own. An
  # input with the name of a program below is used before nixpkgs:
  # inputs.jcode.url = "github:grigio/jcode";

  # Its binary cache saves the hour that compiling takes. Off until you accept it:
  # whoever holds the key decides what the programs it delivers do. Compare both
  # lines with the documentation of that project first. nix then asks once more.
  # nixConfig = {
  #   extra-substituters = [ "https://grigio.github.io/jcode" ];
  #   extra-trusted-public-keys = [ "grigio-jcode:WdqguwKdwOilH+ITvLO98qZy9x5HQ8Cl0xltHtSsUvQ=" ];
  # };

  outputs = inputs@{ nixpkgs, ... }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" ];

      # Always there. bashInteractive is what makes an inner `bash` usable: the one
      # that every nix dev shell brings along has no line editing.
      tools = pkgs: {
        inherit (pkgs) nix git curl bun uv micro less btop bash-completion ncurses bashInteractive;
        make = pkgs.gnumake;
      };

      # There if an input or the pinned nixpkgs has them for this system; otherwise
      # the shell comes without, and the banner does not name them. The names are
      # attribute names of nixpkgs.
      agents = [ "opencode" "jcode" "pi-coding-agent" "reasonix" ];

      # What is worth a word in the banner: the rest goes without saying.
      announced = [ "nix" "git" "bun" "curl" "uv" "make" ];

      # `null` for a package that is missing, marked broken or not for this system:
      # nixpkgs says so with `throw` as soon as drvPath is looked at.
      findAgent = pkgs: name:
        let
          system = pkgs.stdenv.hostPlatform.system;
          found = inputs.${name}.packages.${system}.default or pkgs.${name} or null;
          usable = builtins.tryEval (found != null && builtins.isString found.drvPath);
        in
        if usable.success && usable.value then found else null;

      shellFor = system:
        let
          pkgs = nixpkgs.legacyPackages.${system};
          present = builtins.filter (name: findAgent pkgs name != null) agents;
          commit = nixpkgs.shortRev or "not pinned";
          names = builtins.concatStringsSep ", " (announced ++ present);
        in
        pkgs.mkShell {
          packages = builtins.attrValues (tools pkgs) ++ map (findAgent pkgs) present;

          # Read by ~/.bashrc of the sandbox.
          HUTCH_BASH_COMPLETION = "${pkgs.bash-completion}/share/bash-completion/bash_completion";

          # To stderr, so that `hutch --preset shell ls | wc -l` counts files only.
          shellHook = ''
            printf '%s\n' >&2 \
              '=== hutch development shell ===' \
              '  nixpkgs: nixpkgs-unstable (commit ${commit})' \
              '  tools: ${names}'
          '';
        };
    in
    {
      devShells = builtins.listToAttrs (map
        (system: { name = system; value.default = shellFor system; })
        systems);
    };
}
